"""The same verbs on other machines."""

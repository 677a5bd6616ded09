"""Tables and files of people."""

"""The report's sections as texts, tables and figures: every word chosen, nothing computed."""

"""The report's figures, each defined once: still SVG for the page, for paper and the document."""

"""Tables: read from files, typed, and written as they came."""

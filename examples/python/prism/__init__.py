"""What a client of Prism Gateway needs, in Python's standard library alone. See docs/signing.md."""

"""What the tests share; tests/README.md says what is where."""

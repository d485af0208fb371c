"""What benches/benchmark.py is made of: tables, methods and the page."""

"""From findings and audits to text and machine formats."""

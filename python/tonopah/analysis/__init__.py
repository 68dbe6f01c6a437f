"""From stored runs to tables and verdicts."""

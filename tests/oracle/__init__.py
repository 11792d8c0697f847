"""The naive evaluator that everything is compared with; it imports nothing of the engine."""

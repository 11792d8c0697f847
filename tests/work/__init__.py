"""How much work a change makes, in iterator steps, which do not depend on the machine."""

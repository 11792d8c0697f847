"""Intermediate forms: quantified formulas (`formulas`), core rules (`core`), and their text."""

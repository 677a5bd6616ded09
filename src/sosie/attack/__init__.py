"""Linkage attacks: scenario x estimator x decision."""
from sosie.attack.laboratory import attack

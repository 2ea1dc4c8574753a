"""An exponential average of a network, which generalises better than its last step."""

from __future__ import annotations

import torch


class Average:
    """Exponential average of a network's parameters and real buffers."""

    def __init__(self, network: torch.nn.Module, decay: float) -> None:
        self._decay, self.steps = decay, 0
        self._sources = [
            *network.parameters(),
            *(b for b in network.buffers() if b.is_floating_point()),
        ]
        self.mean = [source.detach().clone() for source in self._sources]

    @torch.no_grad()
    def update(self) -> None:
        """Counts one step in."""
        self.steps += 1
        decay = min(self._decay, (1 + self.steps) / (10 + self.steps))
        for mean, source in zip(self.mean, self._sources):
            mean.mul_(decay).add_(source, alpha=1 - decay)

    @torch.no_grad()
    def swap(self) -> None:
        """Exchanges the averages and what the network holds; again: back."""
        for mean, source in zip(self.mean, self._sources):
            held = source.clone()
            source.copy_(mean)
            mean.copy_(held)

    @torch.no_grad()
    def take(self) -> None:
        """Puts the averages into the network."""
        for mean, source in zip(self.mean, self._sources):
            source.copy_(mean)

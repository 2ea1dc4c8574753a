"""How a text encoder is trained: float first, then in the device's own integers.

One cosine schedule of AdamW over all epochs; in the last ones the forward pass is the
integer one (qat.py). Every epoch sees each message once, as it is or obfuscated, and,
with a teacher, as many composed texts. The weights are averaged exponentially.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from tools.reference.model import Model
from tools.train.augment import obfuscate
from tools.train.averaging import Average
from tools.train.dataset import Inputs, TextParams, Tokens, batches
from tools.train.qat import EncoderConfig, FloatEncoder, QuantEncoder
from tools.train.teacher import Lessons

EVALUATION_BATCH = 128
CALIBRATION_MESSAGES = 2048


@dataclass(frozen=True)
class Recipe:
    """Everything that training can be told."""

    text: TextParams = field(default_factory=lambda: TextParams(buckets=2048))
    embedding_length: int = 48
    input_length: int = 32
    block_count: int = 1
    head_count: int = 3
    feed_forward_length: int = 96
    context_length: int = 64
    epochs: int = 14
    integer_epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 4e-3
    weight_decay: float = 0.01
    table_std: float = 0.05
    dropout: float = 0.1
    token_dropout: float = 0.1
    feature_dropout: float = 0.2
    label_smoothing: float = 0.05
    # Shares of messages that are obfuscated, by the label: the first, the others.
    obfuscated_first: float = 0.25
    obfuscated_others: float = 0.5
    copies: int = 6
    # Weight of the teacher's opinion of real messages; of composed ones it is 1.
    teacher_weight: float = 0.5
    composed_per_epoch: int = 5000
    average_decay: float = 0.995
    seed: int = 1

    def config(self, classes: int) -> EncoderConfig:
        """The shape of the encoder."""
        return EncoderConfig(
            context_length=self.context_length,
            embedding_length=self.embedding_length,
            input_length=self.input_length,
            block_count=self.block_count,
            head_count=self.head_count,
            feed_forward_length=self.feed_forward_length,
            classes=classes,
            vocabulary=self.text.buckets,
        )


@dataclass(frozen=True)
class _Example:
    """A text in all its variants, and what is known of it."""

    variants: list[Tokens]  # the text itself first
    obfuscated: float  # chance of another variant
    label: int  # -1: composed
    teacher: np.ndarray | None  # probabilities [c]


def _softmax(logits: np.ndarray) -> np.ndarray:
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


def _examples(
    recipe: Recipe,
    inputs: Inputs,
    texts: Sequence[str],
    labels: np.ndarray,
    lessons: Lessons | None,
) -> tuple[list[_Example], list[_Example]]:
    """Real and composed texts that have tokens."""

    def variants(text: str, copies: int, name: str) -> list[Tokens]:
        made = [text]
        for copy in range(copies):
            rng = random.Random(f"{recipe.seed}/{name}/{copy}")
            made.append(obfuscate(text, rng))
        return [tokens for tokens in map(inputs.tokens, made) if len(tokens)]

    rates = (recipe.obfuscated_first, recipe.obfuscated_others)
    opinions = _softmax(lessons.real) if lessons else None
    real = [
        _Example(
            variants=variants(text, recipe.copies, str(i)),
            obfuscated=rates[int(labels[i] > 0)],
            label=int(labels[i]),
            teacher=None if opinions is None else opinions[i],
        )
        for i, text in enumerate(texts)
    ]
    composed: list[_Example] = []
    if lessons:
        opinions = _softmax(lessons.composed)
        composed = [
            _Example(
                variants=variants(text, 1, f"composed {i}"),
                obfuscated=rates[int(opinions[i].argmax() > 0)],
                label=-1,
                teacher=opinions[i],
            )
            for i, text in enumerate(lessons.composed_texts)
        ]
    real = [example for example in real if example.variants]
    return real, [example for example in composed if example.variants]


def _targets(recipe: Recipe, examples: Sequence[_Example], classes: int) -> Tensor:
    """Probabilities [examples, c] to learn; smoothed labels, the teacher, or both."""
    targets = np.zeros((len(examples), classes))
    smooth = recipe.label_smoothing
    for target, example in zip(targets, examples):
        weight = 0.0 if example.teacher is None else recipe.teacher_weight
        if example.label < 0:
            weight = 1.0
        else:
            target += (1 - weight) * smooth / classes
            target[example.label] += (1 - weight) * (1 - smooth)
        if example.teacher is not None:
            target += weight * example.teacher
    return torch.from_numpy(targets).float()


def _epoch_order(
    messages: Sequence[Tokens], size: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Batches of messages of similar length, in random order."""
    lengths = np.array([len(message) for message in messages])
    order = np.argsort(lengths + 6 * rng.random(len(lengths)))
    parts = [order[i : i + size] for i in range(0, len(order), size)]
    rng.shuffle(parts)
    return parts


def train_encoder(
    recipe: Recipe,
    inputs: Inputs,
    texts: Sequence[str],
    labels: np.ndarray,
    classes: int,
    lessons: Lessons | None = None,
    progress: str = "training",
) -> QuantEncoder:
    """Trains on texts with labels [texts] in 0..classes-1.

    Returns the integer encoder, calibrated; its float_encoder is the float twin, the
    same parameters in real numbers. The same arguments give the same encoder.
    """
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    network = FloatEncoder(
        recipe.config(classes), dropout=recipe.dropout, table_std=recipe.table_std
    )
    quantised = QuantEncoder(network)
    real, composed = _examples(recipe, inputs, texts, labels, lessons)
    if not real:
        raise ValueError("no message has a token to learn from")
    per_epoch = min(recipe.composed_per_epoch, len(composed))
    examples = real + composed
    targets = _targets(recipe, examples, classes)
    chosen = rng.permutation(len(real))[:CALIBRATION_MESSAGES]
    calibration = [
        batch
        for _, batch in batches(
            inputs, [real[i].variants[0] for i in chosen], EVALUATION_BATCH
        )
    ]

    others = [p for name, p in network.named_parameters() if name != "table"]
    optimiser = torch.optim.AdamW(
        [{"params": [network.table], "weight_decay": 0.0}, {"params": others}],
        weight_decay=recipe.weight_decay,
    )
    average = Average(network, recipe.average_decay)
    steps_an_epoch = math.ceil((len(real) + per_epoch) / recipe.batch_size)
    total = recipe.epochs * steps_an_epoch
    bar = tqdm(
        total=total, desc=progress, unit="step", disable=None if progress else True
    )
    step = 0
    network.train()
    for epoch in range(recipe.epochs):
        in_integers = epoch >= recipe.epochs - recipe.integer_epochs
        if in_integers:
            quantised.calibrate(calibration)
        forward = quantised if in_integers else network
        drawn = rng.choice(len(composed), per_epoch, replace=False) if composed else []
        places = np.concatenate(
            [np.arange(len(real)), len(real) + np.asarray(drawn, np.int64)]
        )
        messages = [_draw(examples[place], rng) for place in places]
        for part in _epoch_order(messages, recipe.batch_size, rng):
            rate = 0.5 * (1 + math.cos(math.pi * step / total))
            rate *= recipe.learning_rate * min(1.0, (step + 1) / 50)
            for group in optimiser.param_groups:
                group["lr"] = rate
            batch = inputs.batch(
                [messages[i] for i in part],
                rng,
                recipe.token_dropout,
                recipe.feature_dropout,
            )
            loss = F.cross_entropy(forward(batch), targets[places[part]])
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            average.update()
            step += 1
            bar.update()
        bar.set_postfix(loss=f"{float(loss.detach()):.3f}", integer=in_integers)
    bar.close()
    average.take()
    network.eval()
    quantised.calibrate(calibration)
    return quantised


def _draw(example: _Example, rng: np.random.Generator) -> Tokens:
    variants = example.variants
    if len(variants) > 1 and rng.random() < example.obfuscated:
        return variants[int(rng.integers(1, len(variants)))]
    return variants[0]


@torch.no_grad()
def predict(
    encoder: FloatEncoder | QuantEncoder, inputs: Inputs, texts: Sequence[str]
) -> np.ndarray:
    """Logits [texts, c] in nats; the integer encoder's are the device's / 256.

    A text without tokens has no result on the device: it gets the label 0.
    """
    encoder.eval()
    messages = [inputs.tokens(text) for text in texts]
    result = np.zeros((len(texts), encoder.config.classes))
    result[:, 0] = 128.0
    for places, batch in batches(inputs, messages, EVALUATION_BATCH):
        result[places] = encoder(batch).double().numpy()
    return result


@torch.no_grad()
def shift_threshold(encoder: QuantEncoder, threshold: float) -> None:
    """Moves the point of decision between two labels into the head's bias.

    threshold: margin in nats (second label's logit less the first's) above which the
    second label should win. Calibration is not touched.
    """
    encoder.float_encoder.head.bias += torch.tensor([threshold / 2, -threshold / 2])


def export(
    encoder: QuantEncoder, inputs: Inputs, name: str, labels: Sequence[str]
) -> Model:
    """The model file's contents, text front end included."""
    params = inputs.tokenizer.params
    keys: dict[str, Any] = {
        key: np.uint32(value) for key, value in params.metadata().items()
    }
    fold_table = np.frombuffer(inputs.tokenizer.fold_table, np.uint8)
    return encoder.export_integers(name, labels, keys, {"text.fold_table": fold_table})

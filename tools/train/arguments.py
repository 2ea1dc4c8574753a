"""Arguments that train.py and crossval.py share: shape and recipe."""

from __future__ import annotations

import argparse
from dataclasses import replace

from tools.train.argument_types import bounded, count, positive_count, share
from tools.train.dataset import TextParams
from tools.train.recipe import Recipe
from tools.train.teacher import TEACHERS


def add_recipe_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares shape, training and teacher; the defaults are the spam model's."""
    default = Recipe()
    shape = parser.add_argument_group("shape of the model")
    # Ranges: docs/model_format.md, docs/text.md.
    for name, value, low, high, text in (
        ("--buckets", default.text.buckets, 16, 65535, "rows of the embedding table"),
        ("--input-length", default.input_length, 1, 512, "width of that table"),
        ("--embedding-length", default.embedding_length, 8, 512, "d_model"),
        ("--heads", default.head_count, 1, 512, "attention heads"),
        ("--ffn", default.feed_forward_length, 1, 4096, "d_ffn"),
        ("--blocks", default.block_count, 1, 64, "encoder blocks"),
        ("--context", default.context_length, 1, 512, "most tokens of a message"),
        ("--ngram-min", default.text.ngram_min, 1, 6, "shortest n-gram of a word"),
        ("--ngram-max", default.text.ngram_max, 1, 6, "longest n-gram of a word"),
        ("--features", default.text.features, 1, 255, "sum of bits, see docs/text.md"),
    ):
        shape.add_argument(
            name,
            type=bounded(low, high),
            default=value,
            metavar="N",
            help=f"{text}, {low}..{high} ({value})",
        )
    training = parser.add_argument_group("training")
    training.add_argument(
        "--epochs",
        type=positive_count,
        default=default.epochs,
        help=f"passes over the messages ({default.epochs})",
    )
    training.add_argument(
        "--integer-epochs",
        type=count,
        default=default.integer_epochs,
        help=f"how many of them, at the end, in integers ({default.integer_epochs})",
    )
    training.add_argument(
        "--seed",
        type=count,
        default=default.seed,
        metavar="N",
        help=f"of all random numbers ({default.seed})",
    )
    training.add_argument(
        "--obfuscated-first",
        type=share,
        default=default.obfuscated_first,
        metavar="SHARE",
        help="messages of the first label that are obfuscated "
        f"({default.obfuscated_first})",
    )
    training.add_argument(
        "--obfuscated-others",
        type=share,
        default=default.obfuscated_others,
        metavar="SHARE",
        help=f"the same for the other labels ({default.obfuscated_others})",
    )
    teacher = parser.add_argument_group("teacher")
    teacher.add_argument(
        "--teacher",
        choices=TEACHERS,
        default="sentences",
        help="none; ngrams: TF-IDF with logistic regression; sentences: the same "
        "stacked with features of a pretrained sentence encoder (sentences)",
    )
    teacher.add_argument(
        "--teacher-weight",
        type=share,
        default=default.teacher_weight,
        metavar="SHARE",
        help=f"its weight against the labels ({default.teacher_weight})",
    )
    teacher.add_argument(
        "--composed",
        type=positive_count,
        default=12000,
        metavar="N",
        help="texts composed for it to judge (12000)",
    )
    teacher.add_argument(
        "--composed-per-epoch",
        type=count,
        default=default.composed_per_epoch,
        metavar="N",
        help=f"how many of them an epoch sees ({default.composed_per_epoch})",
    )


def recipe_of(args: argparse.Namespace) -> Recipe:
    """The recipe that the arguments describe; raises ValueError for a bad shape."""
    if args.embedding_length % args.heads:
        raise ValueError(
            f"--embedding-length {args.embedding_length} is no multiple of "
            f"--heads {args.heads}"
        )
    if args.integer_epochs > args.epochs:
        raise ValueError("--integer-epochs is more than --epochs")
    text = TextParams(
        buckets=args.buckets,
        features=args.features,
        ngram_min=args.ngram_min,
        ngram_max=args.ngram_max,
    )
    return replace(
        Recipe(),
        text=text,
        embedding_length=args.embedding_length,
        input_length=args.input_length,
        block_count=args.blocks,
        head_count=args.heads,
        feed_forward_length=args.ffn,
        context_length=args.context,
        epochs=args.epochs,
        integer_epochs=args.integer_epochs,
        seed=args.seed,
        obfuscated_first=args.obfuscated_first,
        obfuscated_others=args.obfuscated_others,
        teacher_weight=args.teacher_weight,
        composed_per_epoch=args.composed_per_epoch,
    )

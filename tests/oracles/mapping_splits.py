"""The best single split of a table for labels, by trying every one."""

import math


def entropy(labels):
    total = 0.0
    for label in set(labels):
        count = sum(1 for one in labels if one == label)
        total -= count * math.log(count / len(labels))
    return total


def best_gain(rows, labels, least):
    """The largest fall of entropy (nats times rows) over all columns and cuts; 0 for none."""
    best = 0.0
    for column in range(len(rows[0])):
        for cut in sorted({row[column] for row in rows}):
            left = [label for row, label in zip(rows, labels, strict=True) if row[column] < cut]
            right = [label for row, label in zip(rows, labels, strict=True) if row[column] >= cut]
            if min(len(left), len(right)) >= least:
                best = max(best, entropy(labels) - entropy(left) - entropy(right))
    return best

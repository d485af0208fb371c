"""A linear support vector machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._classifier import ClassifierArguments, PrivateClassifier
from ._penalties import Named, number

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PrivateLinearSVC"]


class PrivateLinearSVC(PrivateClassifier):
    """Linear support vector machine of two classes, with a smoothed hinge and differential privacy.

    Parameters
    ----------
    alpha : float
        Strength of the penalty, relative to the mean loss of a record.
    h : float
        Half-width of the smoothing around the kink of the hinge.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent import PrivateLinearSVC
    >>> X = np.random.default_rng(0).uniform(0, 90, size=(1000, 2))
    >>> y = np.where(X[:, 0] > 45, "ill", "well")
    >>> model = PrivateLinearSVC(
    ...     epsilon=1.0, delta=1e-6, bounds=(0, 90), classes=["ill", "well"]
    ... ).fit(X, y)
    >>> model.predict([[80, 10]]).shape
    (1,)
    >>> model.certificate_.certified
    True
    """

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        h: float = 0.5,
        **others: Unpack[ClassifierArguments],
    ) -> None:
        super().__init__(**others)
        self.alpha = alpha
        self.h = h

    def _loss(self, outputs: int | None) -> Named:
        if outputs is not None and outputs > 2:
            # In the words that scikit-learn looks for.
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass."
            )
        return "huberised-hinge", [number("h", self.h)]

    def _penalty(self) -> Named:
        return "l2", [number("alpha", self.alpha)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {"binary_only": True}  # scikit-learn 1.5

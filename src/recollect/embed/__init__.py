"""Texts as vectors, so that they can be compared by what they mean.

One protocol and four encoders behind it: `static`, which comes with the
package and needs nothing else, and `onnx`, `gguf` and `remote` for those who
want a larger model. Which one is used is a setting; only the chosen one is
imported.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence
    from typing import Protocol

    import numpy as np
    from numpy.typing import NDArray

    from recollect.settings import Settings

    class Encoder(Protocol):
        """Makes unit vectors of texts.

        Vectors are comparable only when they come from encoders of the same
        name, so the name says everything a vector depends on: the provider,
        the model, its dimensions and its prefixes. It is stored with them.
        """

        name: str
        dimensions: int

        def encode_query(self, text: str) -> array[float]:
            """The vector of a question, as an `array("f")`.

            All zeros when the model knows nothing of the text.
            """

        def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            """A row for each text, in order.

            A row of zeros where the model knows nothing of the text.
            """


__all__ = ["open_encoder"]

PROVIDERS = ("static", "onnx", "gguf", "remote")


def open_encoder(settings: Settings) -> Encoder:
    """The encoder that the settings choose; raises EncoderUnavailable with what to do about it."""
    from recollect.errors import SettingsError

    provider = settings.text("embed.provider")
    if provider == "static":
        from recollect.embed.static import StaticEncoder

        return StaticEncoder()
    if provider == "onnx":
        from recollect.embed.onnx import OnnxEncoder

        return OnnxEncoder(settings)
    if provider == "gguf":
        from recollect.embed.gguf import GgufEncoder

        return GgufEncoder(settings)
    if provider == "remote":
        from recollect.embed.remote import RemoteEncoder

        return RemoteEncoder(settings)
    raise SettingsError(
        f'There is no embed.provider "{provider}".', hint=f"Choose {', '.join(PROVIDERS)}."
    )

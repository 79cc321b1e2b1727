"""The Triton compiler as a backend: dialect text to PTX, cubin and metadata. Needs no GPU; Triton is imported late."""

from teeny.backends.triton.compile import ARCHITECTURES, TritonArtifact, compile_module, compile_text
from teeny.backends.triton.metadata import Metadata
from teeny.backends.triton.wheel import version

__all__ = ["ARCHITECTURES", "Metadata", "TritonArtifact", "compile_module", "compile_text", "version"]

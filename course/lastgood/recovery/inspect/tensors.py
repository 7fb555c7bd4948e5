"""What torch and NumPy put into a pickle to make a tensor, an array or a dict again, read as stand-ins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lastgood.recovery.inspect.machine import Malformed
from lastgood.recovery.inspect.values import ITEMSIZES, Global, Made, Storage, Table, Tensor, numel
from lastgood.recovery.inspect.walker import Walker

_MOST = 2**62  # bytes: beyond it a claim is no size at all
_DIMS = 64
_OLD_STORAGES = {
    "Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64",
    "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool", "Untyped": "uint8",
    "ComplexFloat": "complex64", "ComplexDouble": "complex128", "QInt8": "qint8", "QUInt8": "quint8",
    "QInt32": "qint32",
}  # fmt: skip
_NUMPY_KINDS = {"f": "float", "i": "int", "u": "uint", "b": "bool", "c": "complex"}


class TorchWalker(Walker):
    """A walker that knows tensors. `tensors` and `storages` are all that the pickles spoke of."""

    def __init__(self) -> None:
        super().__init__(self._made, self._storage)
        self.tensors: list[Tensor] = []
        self.storages: dict[str, Storage] = {}

    def _made(self, target: Global, arguments: Any) -> Any:
        known = _BY_NAMES.get((target.module, target.name))
        if known is None or not isinstance(arguments, tuple):
            return Made(target, arguments)
        made = known(target, arguments)
        if isinstance(made, Tensor):
            self.tensors.append(made)
        return made

    def _storage(self, identity: Any) -> Any:
        """The stand-in of torch's persistent id: ("storage", class, key, device, number of elements, …)."""
        if not isinstance(identity, tuple) or len(identity) < 5 or identity[0] != "storage":
            return Made(None, identity)
        kind, key, count = identity[1], identity[2], identity[4]
        if not isinstance(kind, Global) or type(key) is not str or not _is_size(count):
            raise Malformed("a storage is described in an unknown way")
        dtype = _OLD_STORAGES.get(kind.name.removesuffix("Storage"), "uint8")
        storage = Storage(key, dtype, ITEMSIZES[dtype], count)
        return self.storages.setdefault(key, storage)


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _sizes(value: Any) -> tuple[int, ...]:
    if not isinstance(value, (tuple, list)) or len(value) > _DIMS:
        raise Malformed("a tensor's shape is no shape")
    for size in value:
        if not _is_size(size):
            raise Malformed("a tensor's shape is no shape")
    return tuple(value)


def _strided(dtype: str, storage: Storage, offset: Any, shape: Any, strides: Any) -> Tensor:
    sizes, steps = _sizes(shape), _sizes(strides)
    if not _is_size(offset) or len(sizes) != len(steps):
        raise Malformed("a tensor's place in its storage is none")
    count = numel(sizes)
    reach = 0
    if count:
        reach = offset + 1
        for size, step in zip(sizes, steps, strict=True):
            reach += (size - 1) * step
    itemsize = ITEMSIZES[dtype]
    if count * itemsize > _MOST or reach * itemsize > _MOST:
        raise Malformed("a tensor claims more bytes than there are addresses")
    return Tensor(dtype, sizes, count * itemsize, storage, reach)


def _tensor(_: Global, arguments: tuple[Any, ...]) -> Any:
    """A tensor, from storage, offset, shape and strides; in later forms the dtype follows, since the
    storage has none.
    """
    if len(arguments) < 4 or not isinstance(arguments[0], Storage):
        return Made(_, arguments)
    storage, *rest = arguments[:4]
    named = next((dtype for argument in arguments[6:] if (dtype := dtype_of(argument))), storage.dtype)
    return _strided(named, storage, *rest)


def _parameter(target: Global, arguments: tuple[Any, ...]) -> Any:
    inner = arguments[0] if arguments else None
    if not isinstance(inner, Tensor):
        return Made(target, arguments)
    return Tensor(inner.dtype, inner.shape, inner.bytes, inner.storage, inner.reach, parameter=True)


def _meta(target: Global, arguments: tuple[Any, ...]) -> Any:
    dtype = dtype_of(arguments[0]) if len(arguments) > 1 else ""
    return Tensor(dtype, _sizes(arguments[1]), 0) if dtype else Made(target, arguments)


def _subclass(target: Global, arguments: tuple[Any, ...]) -> Any:
    """A tensor of a subclass: (function, class, arguments, state)."""
    if len(arguments) > 2 and isinstance(arguments[0], Global) and isinstance(arguments[2], tuple):
        inner = _MAKERS.get(str(arguments[0]))
        if inner in (_tensor, _parameter):
            return inner(arguments[0], arguments[2])
    return Made(target, arguments)


def _table(target: Global, arguments: tuple[Any, ...]) -> Any:
    """A dict of some kind: empty, or from a list of pairs as Python 2 wrote it."""
    given = arguments[-1] if arguments else None
    if isinstance(given, list):
        pairs = [tuple(pair) for pair in given if isinstance(pair, tuple | list) and len(pair) == 2]
        return Table([(key, value) for key, value in pairs])
    return Table()


def _shape(target: Global, arguments: tuple[Any, ...]) -> Any:
    return _sizes(arguments[0]) if arguments else ()


def dtype_of(value: Any) -> str:
    """The name of the dtype that a stand-in is: torch's are globals, NumPy's are made."""
    if isinstance(value, Global) and value.module == "torch" and value.name in ITEMSIZES:
        return value.name
    if isinstance(value, Made) and value.named() == "numpy.dtype" and isinstance(value.args, tuple):
        code = value.args[0] if value.args else ""
        if type(code) is str and code[:1] in _NUMPY_KINDS and code[1:].isdecimal() and len(code) < 4:
            name = _NUMPY_KINDS[code[0]] + ("" if code[0] == "b" else str(8 * int(code[1:])))
            return name if name in ITEMSIZES else ""
    return ""


def array_of(value: Any) -> Tensor | None:
    """The stand-in of a NumPy array as a tensor, None for anything else."""
    if not isinstance(value, Made) or not value.named().endswith("multiarray._reconstruct"):
        return None
    state = value.state
    if not isinstance(state, tuple) or len(state) < 3:
        return None
    try:
        dtype, shape = dtype_of(state[2]), _sizes(state[1])
    except Malformed:
        return None
    return Tensor(dtype, shape, numel(shape) * ITEMSIZES[dtype]) if dtype else None


_MAKERS: dict[str, Callable[[Global, tuple[Any, ...]], Any]] = {
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._utils._rebuild_meta_tensor_no_storage": _meta,
    "torch._tensor._rebuild_from_type_v2": _subclass,
    "torch.Size": _shape,
    "collections.OrderedDict": _table,
    "collections.defaultdict": _table,
    "builtins.dict": _table,
}
_BY_NAMES = {(name.rpartition(".")[0], name.rpartition(".")[2]): maker for name, maker in _MAKERS.items()}

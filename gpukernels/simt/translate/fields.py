"""Translate accesses to records: ``a[i].x``, ``a[i]['x']``, ``a['x'][i]``, ``r = a[i]``."""

from __future__ import annotations

import ast

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.run import records
from gpukernels.simt.translate.values import ArrayType, Value


class FieldTranslator:
    """The part of the function translator that deals with structured arrays.

    A record that has a name of its own is an array of no dimensions: a reference into the array.
    """

    def record_place(self, node):
        """Return (records, code of the located record, field) if `node` names one record's field.

        The code is ``"None"`` where the records are a reference to one.
        """
        base, name = _named(node)
        if base is None:
            return None
        if isinstance(base, ast.Name):
            type_ = self.env.get(base.id)
            if not isinstance(type_, ArrayType) or not type_.of_records or type_.ndim:
                return None
            return self.expression(base), "None", self._field(type_.dtype, name, node)
        if _named(base)[0] is not None:
            outer = self.record_place(base)
            if outer is None or outer[2].dtype.fields is None or outer[2].shape:
                return None
            self._field(outer[2].dtype, name, node)
            return *outer[:2], outer[2].part(name)
        if not (isinstance(base, ast.Subscript) and isinstance(base.value, ast.Name)):
            return None
        type_ = self.env.get(base.value.id)
        indices = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
        if not isinstance(type_, ArrayType) or not type_.of_records or len(indices) != type_.ndim:
            return None
        if any(isinstance(i, ast.Slice) for i in indices):
            return None
        array = self.expression(base.value)
        at = self.locate(array, self._index_values(base.slice), base)
        return array, at, self._field(type_.dtype, name, node)

    def reads_record(self, node):
        """Return whether evaluating `node` may load a field, which ``r.x`` does not show."""
        types = (self.env.get(n.id) for n in ast.walk(node) if isinstance(n, ast.Name))
        return any(isinstance(t, ArrayType) and t.of_records for t in types)

    def _field(self, dtype, name, node):
        if name not in dtype.names:
            known = ", ".join(dtype.names)
            raise self.refuse(
                f"this record has no field `{name}`; it has {known}", node, KernelTypeError
            )
        field = records.field_of(dtype, name)
        if field.dtype.fields is None and field.offset % field.dtype.alignment:
            raise self.refuse(
                f"field `{name}` lies {field.offset} bytes into its record, where a device cannot "
                f"read {field.dtype}; make the record type with np.dtype(..., align=True)",
                node,
                KernelTypeError,
            )
        return field

    def read_field(self, array, at, field, node) -> Value:
        """Emit a load of a field of one record, or return the array that lies within it."""
        if field.dtype.fields is not None:
            raise self.refuse(
                f"name a field of the record within the record in full: `{ast.unparse(node)}.`"
                f"{field.dtype.names[0]}",
                node,
            )
        code = f"{array.code}, {self.program.constant(field)}, {self.active}, {at}"
        if field.shape:
            self.program.namespace["array_in_record"] = records.array_in_record
            type_ = ArrayType(field.dtype, len(field.shape))
            return Value(type_, self.temporary(f"array_in_record({code})"))
        self.program.namespace["load_field"] = records.load_field
        return Value(field.dtype, self.temporary(f"load_field({code}, {self.where})"), fresh=True)

    def write_field(self, array, at, field, value, node):
        """Emit a store to a field of one record, or the copy of an array into it."""
        code = f"{array.code}, {self.program.constant(field)}, {self.active}, {at}"
        if field.shape and value.is_array and value.type.ndim == len(field.shape):
            if value.type.dtype != field.dtype:
                raise self.refuse(
                    f"an array of {value.type.dtype} cannot be copied into one of {field.dtype}",
                    node,
                    KernelTypeError,
                )
            self.program.namespace["fill_array"] = records.fill_array
            self.emit(f"fill_array({code}, {value.code}, {self.where})")
            return
        if field.dtype.fields is not None or field.shape or not value.is_scalar:
            raise self.refuse(
                "only numbers can be stored in a field; assign the elements of an array one by one",
                node,
                KernelTypeError,
            )
        self.program.namespace["store_field"] = records.store_field
        value = self.cast(value, field.dtype)
        self.emit(f"store_field({code}, {value.code}, {self.where})")

    def field_of_all(self, array, name, node) -> Value:
        """Return ``a['x']`` of an array of records, or the field of a reference to one."""
        field = self._field(array.type.dtype, name, node)
        if array.type.ndim == 0:
            return self.read_field(array, "None", field, node)
        if field.dtype.fields is not None:
            raise self.refuse("an array of the records within records cannot be made", node)
        if array.type.dtype.itemsize % field.dtype.alignment:
            raise self.refuse(
                f"the fields `{name}` lie {array.type.dtype.itemsize} bytes apart, so a device "
                "cannot read them as an array; make the record type with np.dtype(..., align=True)",
                node,
                KernelTypeError,
            )
        self.program.namespace["field_array"] = records.field_array
        code = f"field_array({array.code}, {self.program.constant(field)}, {self.active})"
        type_ = ArrayType(field.dtype, array.type.ndim + len(field.shape))
        return Value(type_, self.temporary(code))

    def field_at(self, record, node) -> Value:
        """Return a field of a reference to a record by its number, ``r[0]``."""
        at = self.expression(node.slice)
        names = record.type.dtype.names
        if at.constant is None or not 0 <= at.constant < len(names):
            raise self.refuse(
                f"a record can be indexed by a field's name or a constant 0 to {len(names) - 1}",
                node,
                KernelTypeError,
            )
        return self.field_of_all(record, names[int(at.constant)], node)

    def parts_of_all(self, array, name) -> Value:
        """Return ``a.real`` or ``a.imag`` of an array of complex numbers."""
        self.program.namespace["field_array"] = records.field_array
        field = records.part_of_complex(array.type.dtype, name)
        code = f"field_array({array.code}, {self.program.constant(field)}, {self.active})"
        return Value(ArrayType(field.dtype, array.type.ndim), self.temporary(code))

    def put_record(self, array, index, value, node):
        """Emit the copy of a whole record to a located element."""
        same = value.is_array and value.type.ndim == 0 and value.type.dtype == array.type.dtype
        if not same:
            raise self.refuse(
                "a record can be assigned from a record of the same type; or assign its fields",
                node,
                KernelTypeError,
            )
        self.program.namespace["copy_record"] = records.copy_record
        self.emit(f"copy_record({array.code}, {self.active}, {index}, {value.code}, {self.where})")


def _named(node):
    """Return (node of a record or array of records, name of its field), by syntax alone."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        if isinstance(node.slice.value, str):
            return node.value, node.slice.value
    return None, None

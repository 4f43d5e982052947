"""Options that belong together: a command takes them as one frozen object.

A group is a frozen dataclass whose fields are annotated as parameters of commands are. Where a
command has a parameter of that type, the program has the group's options in its place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, get_type_hints

from flyloom.cli.common import (
    AnyEngine,
    Catalog,
    CsvFile,
    EnergyYears,
    Gbps,
    Include,
    Json,
    Layers,
    Limit,
    Lmc,
    Options,
    Planes,
    Protocol,
    Pue,
    Quotation,
    Rules,
    Server,
    Sort,
    Spare,
    Top,
    UsdPerKwh,
    one_catalog,
)

if TYPE_CHECKING:
    from flyloom.inputs.catalogs import PriceList


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its groups in their places."""
    groups: dict[str, Any] = {}
    flat: list[Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in signature(command).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            flat += _options(hints[name])
        else:
            kept = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])
            flat.append(kept)

    @functools.wraps(command)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    called.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return called


def _options(group: Any) -> Iterator[Parameter]:
    """The fields of a group as parameters."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = Parameter.empty if field.default is MISSING else field.default
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default,
                        annotation=hints[field.name])


@dataclass(frozen=True)
class TableOptions:
    """The options of how an engine makes tables."""

    lmc: Lmc = None
    layers: Layers = None
    option: Options = None


@dataclass(frozen=True)
class RouteOptions:
    """The options of which engine makes tables, and how."""

    engine: AnyEngine = None
    lmc: Lmc = None
    layers: Layers = None
    option: Options = None


@dataclass(frozen=True)
class FloorOptions:
    """The options of a floor, and of what its cables are bought from."""

    rules: Rules = None
    server: Server = None
    catalog: Catalog = None
    gbps: Gbps = None
    protocol: Protocol = None
    quotation: Quotation = None
    electric_limit: Limit = None

    def asked(self) -> dict[str, Any]:
        """The options as keyword arguments of the verbs."""
        place = PurchaseOptions(catalog=self.catalog, server=self.server, protocol=self.protocol,
                                quotation=self.quotation).place()
        if self.electric_limit is not None:
            from flyloom.inputs.catalogs import shop

            place = shop(place, electric_limit_m=self.electric_limit)
        return {"rules": self.rules, "catalog": place, "gbps": self.gbps}


@dataclass(frozen=True)
class PurchaseOptions:
    """The options of prices: where a network is bought, and what the total adds up."""

    catalog: Catalog = None
    gbps: Gbps = None
    include: Include = None
    server: Server = None
    protocol: Protocol = None
    energy_years: EnergyYears = None
    usd_per_kwh: UsdPerKwh = None
    pue: Pue = None
    spare: Spare = None
    quotation: Quotation = None

    def place(self) -> PriceList | None:
        """Where the network is bought, all but rate and items."""
        catalog = one_catalog(self.catalog)
        apart = ("catalog", "gbps", "include")
        terms: dict[str, Any] = {
            field.name: getattr(self, field.name) for field in fields(PurchaseOptions)
            if field.name not in apart
        }
        if all(value is None for value in terms.values()):
            return catalog
        from flyloom.inputs.catalogs import shop

        return shop(catalog, **terms)

    def asked(self) -> dict[str, Any]:
        """The options as keyword arguments of the verbs."""
        return {"catalog": self.place(), "gbps": self.gbps, "include": self.include}

    def written(self) -> dict[str, Any]:
        """Every option by its name, as the table of a need has it."""
        return {
            field.name: getattr(self, field.name) for field in fields(self)
        } | {"catalog": one_catalog(self.catalog)}

    def given(self) -> list[str]:
        """The options that are given, as they are written."""
        return [f"--{field.name.replace('_', '-')}" for field in fields(PurchaseOptions)
                if getattr(self, field.name) is not None]


@dataclass(frozen=True)
class PriceOptions(PurchaseOptions):
    """The options of prices, and of planes of the networks that are priced."""

    planes: Planes = None

    def asked(self) -> dict[str, Any]:
        """The options as keyword arguments of the verbs."""
        return {"planes": self.planes, **super().asked()}


@dataclass(frozen=True)
class ListingOptions:
    """The order and form in which a table is printed."""

    sort: Sort = None
    top: Top = None
    csv: CsvFile = None
    as_json: Json = False

"""The OpenAPI description of the API, derived from the declarations of operations."""

from __future__ import annotations

import inspect
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from tickbird.api.auth.auth import NAMESPACE_PARAMETER, SECURITY, SECURITY_SCHEME, is_namespaced, role_of
from tickbird.api.middleware.idempotency import DESCRIBED, KEY_SCHEMA, repeatable
from tickbird.api.problems import MEDIA_TYPE, PROBLEM
from tickbird.api.request_arguments import ETAG_FORM, LIMIT, MAX_PAGE_TOKEN, MAX_WAIT, PAGE_KEYS, WAIT_TIME, page_key
from tickbird.domain.runs.logs import LogLine
from tickbird.wire.operations import Operation, Parameter
from tickbird.wire.schema import Components, Schema, object_schema

_NEXT: Final = "The `after` of the next page; null on the last."
_AFTER: Final = {
    "type": "string",
    "maxLength": MAX_PAGE_TOKEN,
    "description": "The `next` of the previous page (default: the first page).",
}
_WAIT: Final = {
    "anyOf": [{"type": "integer", "minimum": 1, "maximum": MAX_WAIT}, {"type": "null"}],
    "description": "Seconds to wait until the run is final; the response has the run as it is by then.",
}
_IF_MATCH: Final = {
    "type": "string",
    "pattern": ETAG_FORM,
    "examples": ['"3"', "*"],
    "description": 'Only if it is still at this revision: the ETag, "3".',
}
_IF_NONE_MATCH: Final = {
    "type": "string",
    "pattern": r"^\*$",
    "examples": ["*"],
    "description": "`*`: only if the name does not exist yet. Not together with If-Match.",
}
_RUN_KEY: Final = {**KEY_SCHEMA, "description": "The same key again gives the same run."}


def write_description(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, routes=app.routes)
    document.setdefault("components", {})["securitySchemes"] = {"token": SECURITY_SCHEME}
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema and role_of(route) is not None:
            for method in route.methods or ():
                described = document["paths"][route.path_format][method.lower()]
                described["security"] = SECURITY
                if is_namespaced(route):
                    described.setdefault("parameters", []).append(dict(NAMESPACE_PARAMETER))
    for route in repeatable(app.routes):
        document["paths"][route.path_format]["post"].setdefault("parameters", []).append(dict(DESCRIBED))
    components: Components = app.state.components
    components.schema(LogLine)
    document.setdefault("components", {}).setdefault("schemas", {}).update(components.schemas)
    return _completed(document)


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    """Add the schema and the response of problems to every path."""
    schemas = document["components"]["schemas"]
    schemas["Problem"] = PROBLEM
    streamed = schemas["Activity"]
    run = {
        "anyOf": [{"type": "object"}, {"type": "null"}],
        "description": "The run as it was when the event was sent, without payload and result.",
    }
    schemas["StreamedActivity"] = {**streamed, "properties": {**streamed["properties"], "run": run}}
    problem = {
        "description": "The request was refused, or cannot be served.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for methods in document["paths"].values():
        for operation in methods.values():
            operation["responses"]["default"] = problem
    return document


def describe(operation: Operation, components: Components) -> dict[str, Any]:
    described: dict[str, Any] = {"responses": _responses(operation, components)}
    parameters = [_parameter(item, components) for item in operation.parameters if item.place != "body"]
    if operation.page is not None:
        parameters += [
            _query("limit", {**components.schema(LIMIT), "default": 100}),
            _query("after", {**_AFTER, "pattern": PAGE_KEYS[page_key(operation)]}),
        ]
    if operation.waits and operation.method == "GET":
        parameters.append(_query("wait", components.schema(WAIT_TIME)))
    if operation.has("revision"):
        parameters.append(_header("if-match", _IF_MATCH))
        if operation.created is not None:
            parameters.append(_header("if-none-match", _IF_NONE_MATCH))
    if operation.has("idempotency_key"):
        parameters.append(_header("Idempotency-Key", _RUN_KEY))
    if parameters:
        described["parameters"] = parameters
    if (body := _body(operation, components)) is not None:
        described["requestBody"] = body
    return described


def _body(operation: Operation, components: Components) -> dict[str, Any] | None:
    sent = [parameter for parameter in operation.parameters if parameter.place == "body"]
    if operation.method in ("GET", "DELETE") or (not sent and not operation.waits):
        return None
    properties: dict[str, Schema] = {}
    for parameter in sent:
        group, _, key = parameter.key.partition(".")
        schema = _with_default(_of_request(components.schema(parameter.hint)), parameter)
        if parameter.required:
            schema = _without_null(schema)
        if key:
            properties.setdefault(group, object_schema({}, (), closed=True))["properties"][key] = schema
        else:
            properties[parameter.key] = schema
    if operation.waits:
        properties["wait"] = dict(_WAIT)
    if operation.settings:
        names = {"type": "array", "items": {"type": "string", "enum": list(operation.settings)}}
        properties["none"] = {**names, "description": "Settings that have no value, even if the task declares one."}
    needed = [*{item.key.partition(".")[0]: None for item in sent if item.required or "." in item.key}]
    schema = object_schema(properties, needed, closed=True)
    required = bool(needed) or operation.method != "POST"
    if not required:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return {"content": {"application/json": {"schema": schema}}, **({"required": True} if required else {})}


def _of_request(schema: Schema) -> Schema:
    """The schema of a request, in which an instant has a maximum length."""
    if schema.get("format") == "date-time":
        return {**schema, "maxLength": 60}
    if "anyOf" in schema:
        return {**schema, "anyOf": [_of_request(kind) for kind in schema["anyOf"]]}
    return schema


def _with_default(schema: Schema, parameter: Parameter) -> Schema:
    default = None if parameter.required else parameter.default
    plain = isinstance(default, str | int | float) and not isinstance(default, type)
    return {**schema, "default": default} if plain else schema


def _responses(operation: Operation, components: Components) -> dict[str, Any]:
    description = operation.responses.get(operation.status, "Successful Response")
    if operation.content is not None:
        content = {kind: {"schema": schema} for kind, schema in operation.content.items()}
        return {str(operation.status): {"description": description, "content": content}}
    if operation.result is type(None):
        return {str(operation.status): {"description": description}}
    value = components.schema(operation.result)
    extras = {
        key: components.schema(inspect.get_annotations(compute, eval_str=True)["return"])
        for key, compute in operation.extras.items()
    }
    if operation.is_list:
        paged: dict[str, Schema] = {"next": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": _NEXT}}
        properties: dict[str, Schema] = {
            "items": {"type": "array", "items": value},
            **(paged if operation.page else {}),
            **extras,
        }
        value = object_schema(properties, properties)
    elif operation.envelope is not None:
        properties = {operation.envelope: value, **extras}
        value = object_schema(properties, properties)
    elif extras:
        value = {"allOf": [value, object_schema(extras, extras)]}
    content = {"content": {"application/json": {"schema": value}}}
    responses = {str(operation.status): {"description": description, **content}}
    for status, text in operation.responses.items():
        responses[str(status)] = {"description": text, **content}
    return responses


def _parameter(parameter: Parameter, components: Components) -> dict[str, Any]:
    schema = _with_default(_without_null(_of_request(components.schema(parameter.hint))), parameter)
    if parameter.place == "path":
        return {"name": parameter.key, "in": "path", "required": True, "schema": schema}
    if parameter.place == "header":
        return _header(parameter.key, schema)
    return _query(parameter.key, schema, required=parameter.required)


def _query(name: str, schema: Schema, *, required: bool = False) -> dict[str, Any]:
    described = {"description": schema["description"]} if "description" in schema else {}
    return {"name": name, "in": "query", "required": required, "schema": schema, **described}


def _header(name: str, schema: Schema) -> dict[str, Any]:
    return {**_query(name, schema), "in": "header"}


def _without_null(schema: Schema) -> Schema:
    """The schema of a parameter in a URL, which can be left out but cannot be null."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**kinds[0], **rest} if len(kinds) == 1 else schema

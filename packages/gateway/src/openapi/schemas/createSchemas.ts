import { ACTIONS } from '@prism-gateway/protocol';
import * as z from 'zod/mini';
import { schemaStemOf } from '../actionNames.ts';
import { type JsonSchema, schemaRef } from '../document.ts';
import { ACTION_SUMMARIES, COMMON_FIELDS, FIELD_DESCRIPTIONS, PARAMS_RULES } from '../text/descriptions.ts';
import { nameSchemas, type SchemaOptions } from './nameSchemas.ts';

type MutableSchema = Record<string, unknown>;

/** Drops what zod adds to every integer, which is only the range that JavaScript keeps exact. */
function dropSafeIntegerRange({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function translate(schemas: Readonly<Record<string, z.ZodMiniType>>): Record<string, MutableSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const translated = z.toJSONSchema(registry, {
    target: 'draft-2020-12',
    // A batch array is a pipe: first its length is checked, then its entries. What comes out has passed both, and is, as
    // everywhere in these schemas, what went in.
    io: 'output',
    uri: (id) => schemaRef(id).$ref,
    override: dropSafeIntegerRange,
  });
  return Object.fromEntries(
    // The place in the components is the name; the dialect is OpenAPI's default.
    Object.entries(translated.schemas).map(([id, { $id, $schema, ...schema }]) => [id, schema]),
  );
}

const refs = (suffix: 'Params' | 'Body') => ACTIONS.map((action) => schemaRef(`${schemaStemOf(action)}${suffix}`));

function createRequestBody(): JsonSchema {
  const mapping = Object.fromEntries(
    ACTIONS.map((action) => [action, schemaRef(`${schemaStemOf(action)}Body`).$ref] as const),
  );
  return {
    description: 'A signed request: `params` are those of its `action`',
    oneOf: refs('Body'),
    discriminator: { propertyName: 'action', mapping },
  };
}

function updateRequestBody(): JsonSchema {
  const forms = { processing: 'ClaimBody', success: 'SuccessReportBody', failed: 'FailureReportBody' };
  const mapping = Object.fromEntries(Object.entries(forms).map(([status, name]) => [status, schemaRef(name).$ref]));
  return {
    description: 'A claim, or a report of success or failure',
    oneOf: Object.values(forms).map(schemaRef),
    discriminator: { propertyName: 'status', mapping },
  };
}

/** Rules between fields, which zod checks in code: as JSON Schema if it can them, and in words. */
function addParamsRules(schemas: Record<string, MutableSchema>): void {
  for (const action of ACTIONS) {
    const schema = schemas[`${schemaStemOf(action)}Params`];
    if (schema === undefined) continue;
    schema.description = [`${ACTION_SUMMARIES[action]}.`, ...(PARAMS_RULES[action] ?? [])].join(' ');
  }
  const needsFunds = { permit: { properties: { fundAmount: { not: { const: '0' } } } } };
  for (const stem of ['CreatePrismFor', 'CreatePrismWithDataFor']) {
    Object.assign(schemas[`${stem}Params`] ?? {}, { dependentSchemas: needsFunds });
  }
}

/** The fields of a translated object schema. */
function propertiesOf(schema: JsonSchema | undefined): Record<string, MutableSchema> {
  // zod writes an object's fields there, and nothing else.
  return (schema?.properties ?? {}) as Record<string, MutableSchema>;
}

function addFieldDescriptions(schemas: Readonly<Record<string, MutableSchema>>): void {
  for (const [name, descriptions] of Object.entries(FIELD_DESCRIPTIONS)) {
    const properties = propertiesOf(schemas[name]);
    for (const [field, description] of Object.entries(descriptions))
      Object.assign(properties[field] ?? {}, { description });
  }
  for (const schema of Object.values(schemas)) describeRest(schema, schemas);
}

/** Gives the fields that say nothing of themselves, at any depth, what fields of their name mean everywhere. */
function describeRest(schema: MutableSchema, schemas: Readonly<Record<string, MutableSchema>>): void {
  for (const [field, property] of Object.entries(propertiesOf(schema))) {
    const description = COMMON_FIELDS[field];
    const target = schemas[String(property.$ref).split('/').at(-1) ?? ''];
    if (description !== undefined && (property.description ?? target?.description) === undefined)
      Object.assign(property, { description });
    describeRest(property, schemas);
  }
}

/** The record's params are those of some action; zod's schema of the record leaves them open. */
function describeRecordParams(schemas: Readonly<Record<string, MutableSchema>>): void {
  const params = { type: 'object', description: 'As submitted, of the shape of the `action`' };
  Object.assign(propertiesOf(schemas.RequestRecord), { params });
  const oneOf = ACTIONS.map((action) => ({
    required: ['action', 'params'],
    properties: { action: { const: action }, params: schemaRef(`${schemaStemOf(action)}Params`) },
  }));
  Object.assign(schemas.RequestRecord ?? {}, { oneOf });
}

/**
 * Makes the components' schemas from the very schemas that validate.
 *
 * JSON Schema cannot say two of their rules, which stand in descriptions: that two arrays have equal lengths, and that a
 * decimal of 78 digits is at most 2^256-1.
 *
 * @param limits.maxBatchSize - most entries of a batch array
 * @returns schemas by name, in draft 2020-12
 */
export function createSchemas(limits: SchemaOptions): Readonly<Record<string, JsonSchema>> {
  const { schemas, aliases } = nameSchemas(limits);
  const translated = translate(schemas);
  for (const { action, of } of aliases) {
    translated[`${schemaStemOf(action)}Params`] = schemaRef(`${schemaStemOf(of)}Params`);
  }
  addParamsRules(translated);
  addFieldDescriptions(translated);
  describeRecordParams(translated);
  return {
    ...translated,
    CreateRequestBody: createRequestBody(),
    UpdateRequestBody: updateRequestBody(),
  };
}

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createOpenApiDocument, type OpenApiOptions } from '../../src/openapi/createOpenApiDocument.ts';
import { type JsonSchema, type OpenApiDocument, schemaRef } from '../../src/openapi/document.ts';

/** A deployment that has everything the document can describe. */
const FULL_OPTIONS: OpenApiOptions = {
  publicUrl: 'http://127.0.0.1:8787',
  maxBatchSize: 3,
  maxBodyBytes: 262_144,
  withDevIssuer: true,
  withDevRelayer: true,
  withLocalObjects: true,
  withWebhooks: true,
};

export interface OpenApiRig {
  readonly document: OpenApiDocument;
  /** Compiles a schema of the document; a `$ref` in it is followed into the components. */
  compile(schema: JsonSchema): ValidateFunction;
}

const COMPONENTS = 'https://prism-gateway.invalid/schemas/';

/** A schema whose references into the document's components are references to schemas of their own. */
function withOwnReferences(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll(`"$ref":"${schemaRef('').$ref}`, `"$ref":"${COMPONENTS}`));
}

/** Makes the document, and validators of its schemas that share no code with what it is made from. */
export function createOpenApiRig(options: Partial<OpenApiOptions> = {}): OpenApiRig {
  // Through JSON, as a client gets it.
  const document: OpenApiDocument = JSON.parse(JSON.stringify(createOpenApiDocument({ ...FULL_OPTIONS, ...options })));
  // Types and requirements inside `dependentSchemas` lean on those outside.
  const lenient = { strictTypes: false, strictRequired: false };
  const ajv = new Ajv2020({ strict: true, ...lenient, allErrors: true, formats: { binary: true } });
  // OpenAPI's own word says nothing about what is valid.
  ajv.addVocabulary(['discriminator']);
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    ajv.addSchema(withOwnReferences(schema), `${COMPONENTS}${name}`);
  }
  return { document, compile: (schema) => ajv.compile(withOwnReferences(schema)) };
}

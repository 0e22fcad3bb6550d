/** Prints the OpenAPI document of a development gateway, for linters and generators of clients. */
import { createOpenApiDocument } from '../src/openapi/createOpenApiDocument.ts';

const document = createOpenApiDocument({
  publicUrl: 'http://127.0.0.1:8787',
  maxBatchSize: 100,
  maxBodyBytes: 262_144,
  withDevIssuer: true,
  withLocalObjects: true,
});

process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);

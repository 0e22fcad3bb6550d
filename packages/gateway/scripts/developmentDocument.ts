import { createOpenApiDocument } from '../src/openapi/createOpenApiDocument.ts';

/** Makes the OpenAPI document of a gateway with the development defaults. */
export function createDevelopmentDocument() {
  return createOpenApiDocument({
    publicUrl: 'http://127.0.0.1:8787',
    maxBatchSize: 100,
    maxBodyBytes: 262_144,
    withDevIssuer: true,
    withDevRelayer: true,
    withLocalObjects: true,
    withWebhooks: true,
  });
}

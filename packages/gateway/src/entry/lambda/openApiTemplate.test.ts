import { expect, it } from 'vitest';
import { createOpenApiDocument } from '../../openapi/createOpenApiDocument.ts';
import { fillOpenApi, OPEN_API_PLACEHOLDERS } from './openApiTemplate.ts';

const write = (facts: typeof OPEN_API_PLACEHOLDERS) =>
  JSON.stringify(createOpenApiDocument({ ...facts, withDevIssuer: false }));

it.each([
  { publicUrl: 'https://a1b2.execute-api.eu-central-1.amazonaws.com/prod', maxBatchSize: 100, maxBodyBytes: 262_144 },
  { publicUrl: 'https://"quoted"\\', maxBatchSize: 2, maxBodyBytes: 1024 },
  { publicUrl: "https://$&$'.example.org", maxBatchSize: 9999, maxBodyBytes: 524_288 },
])('fills in the document as the generator would write it: $publicUrl', (facts) => {
  expect(fillOpenApi(write(OPEN_API_PLACEHOLDERS), facts)).toBe(write(facts));
});

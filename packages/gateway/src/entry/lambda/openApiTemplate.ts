import type { OpenApiOptions } from '../../openapi/createOpenApiDocument.ts';

/** The options that differ from one deployment to another. */
export type OpenApiFacts = Pick<OpenApiOptions, 'publicUrl' | 'maxBatchSize' | 'maxBodyBytes'>;

/** Placeholders in the document made at build time, for values known at run time: found nowhere else in it. */
export const OPEN_API_PLACEHOLDERS: OpenApiFacts = {
  publicUrl: 'https://public-url.invalid',
  maxBatchSize: 918_273_645,
  maxBodyBytes: 564_738_291,
};

/**
 * Fills in the document that was made at build time.
 *
 * @param template - the document with the placeholders, as JSON
 * @returns the document as the generator would have made it, as JSON
 */
export function fillOpenApi(template: string, { publicUrl, maxBatchSize, maxBodyBytes }: OpenApiFacts): string {
  // The content of a JSON string, without its quotes.
  const url = JSON.stringify(publicUrl).slice(1, -1);
  return template
    .replaceAll(OPEN_API_PLACEHOLDERS.publicUrl, () => url)
    .replaceAll(String(OPEN_API_PLACEHOLDERS.maxBatchSize), String(maxBatchSize))
    .replaceAll(String(OPEN_API_PLACEHOLDERS.maxBodyBytes), String(maxBodyBytes));
}

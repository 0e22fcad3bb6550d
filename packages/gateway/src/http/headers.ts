import { CORS_HEADERS } from '@prism-gateway/protocol';

/** Headers of every answer of the API: CORS as the specification has it, and nothing for a browser to run, guess or keep. */
export const BODILESS_HEADERS: Readonly<Record<string, string>> = {
  ...CORS_HEADERS,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The same with the type of every body but documents. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  ...BODILESS_HEADERS,
  'content-type': 'application/json; charset=utf-8',
};

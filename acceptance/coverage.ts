import { ACCESS_CASES } from './coverage/access.ts';
import { ENDPOINT_CASES } from './coverage/endpoints.ts';
import { REQUEST_CASES } from './coverage/requests.ts';
import type { RuleCase } from './coverage/ruleCase.ts';
import { STORAGE_CASES } from './coverage/storage.ts';
import { WEBHOOK_CASES } from './coverage/webhooks.ts';
import { WIRE_CASES } from './coverage/wire.ts';

const cases = [
  ...ENDPOINT_CASES,
  ...WIRE_CASES,
  ...REQUEST_CASES,
  ...ACCESS_CASES,
  ...STORAGE_CASES,
  ...WEBHOOK_CASES,
] as const;

/** Name of one case of the contract. */
export type CoverageId = (typeof cases)[number]['id'];

/**
 * All that the contract says, by area: each endpoint with each of its statuses, and each rule. A test names what it covers;
 * `coverage.test.ts` fails if a rule has no test.
 *
 * @see docs/specification.md
 */
export const COVERAGE: Readonly<Record<string, readonly (RuleCase & { readonly id: CoverageId })[]>> = {
  'endpoints and statuses': ENDPOINT_CASES,
  'every call': WIRE_CASES,
  requests: REQUEST_CASES,
  'access and limits': ACCESS_CASES,
  storage: STORAGE_CASES,
  webhooks: WEBHOOK_CASES,
};

/** Every case's id. */
export const COVERAGE_IDS: ReadonlySet<string> = new Set(cases.map(({ id }) => id));

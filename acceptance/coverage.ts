import { ACCESS_RULES } from './coverage/access.ts';
import { ENDPOINT_RULES } from './coverage/endpoints.ts';
import { REQUEST_RULES } from './coverage/requests.ts';
import type { Rule } from './coverage/rule.ts';
import { STORAGE_RULES } from './coverage/storage.ts';
import { WIRE_RULES } from './coverage/wire.ts';

const rules = [...ENDPOINT_RULES, ...WIRE_RULES, ...REQUEST_RULES, ...ACCESS_RULES, ...STORAGE_RULES] as const;

/** Name of one rule of the contract. */
export type CoverageId = (typeof rules)[number]['id'];

/**
 * All that the contract says, by area: each endpoint with each of its statuses, and each rule. A test names what it covers;
 * `coverage.test.ts` fails where a rule has no test.
 *
 * @see SPEC.md; DECISIONS.md
 */
export const COVERAGE: Readonly<Record<string, readonly (Rule & { readonly id: CoverageId })[]>> = {
  'endpoints and statuses': ENDPOINT_RULES,
  'every call': WIRE_RULES,
  requests: REQUEST_RULES,
  'access and limits': ACCESS_RULES,
  storage: STORAGE_RULES,
};

/** Every rule's id. */
export const COVERAGE_IDS: ReadonlySet<string> = new Set(rules.map(({ id }) => id));

import { type COMMON_ERRORS, listErrors, ROUTES, type Route, type RouteName } from '@prism-gateway/protocol';
import type { RuleCase } from './ruleCase.ts';

type Statuses<R> = R extends {
  readonly success: infer S extends number;
  readonly errors: readonly (infer E extends number)[];
}
  ? S | E | (R extends { readonly otherSuccess: infer O extends number } ? O : never) | CommonError
  : never;
type CommonError = (typeof COMMON_ERRORS)[keyof typeof COMMON_ERRORS][number];
/** Such as `claimRequests.200`. */
type EndpointId = { [Name in RouteName]: `${Name}.${Statuses<(typeof ROUTES)[Name]>}` }[RouteName];

/** The answer of each route if all is well, and if it does not know what it is asked for. */
const OWN_RULES: Readonly<Record<RouteName, string>> = {
  signStorage: 'SIGN-1',
  createRequest: 'CREATE-1',
  listRequests: 'LIST-5',
  readRequest: 'READ-1',
  feedRequests: 'FEED-1',
  updateRequest: 'CLAIM-4',
  claimRequests: 'BATCH-1',
  reportRequests: 'BATCH-5',
  releaseRequest: 'RELEASE-1',
  addRelayer: 'WHITELIST-1',
  removeRelayer: 'WHITELIST-4',
  suspendRelayer: 'WHITELIST-6',
  resumeRelayer: 'WHITELIST-6',
  releaseRelayer: 'WHITELIST-7',
  listRelayers: 'WHITELIST-5',
  readRelayer: 'WHITELIST-5',
  listAllRequests: 'ADMIN-4',
  readStats: 'ADMIN-8',
  listActs: 'ADMIN-11',
  readService: 'ADMIN-12',
  releaseClaim: 'ADMIN-5',
  failRequest: 'ADMIN-6',
  reopenRequest: 'ADMIN-14',
  purgeRequest: 'ADMIN-7',
};

/** The meaning of a status on every route. */
const STATUSES: Readonly<Record<number, readonly [rule: string, meaning: string]>> = {
  400: ['ERROR-5', 'validation'],
  401: ['ERROR-6', 'authentication failed'],
  409: ['ERROR-9', 'not in that state'],
  413: ['ERROR-10', 'body over MAX_BODY_BYTES'],
  415: ['ERROR-11', 'a body that is not JSON by its content type'],
  429: ['ERROR-12', 'over a limit'],
  500: ['ERROR-13', 'unexpected server error'],
  503: ['ERROR-14', 'the store or the identity provider does not answer'],
};

/** Answered by the same code as another case, which is shown. */
const SHOWN_BY: Readonly<Partial<Record<EndpointId, EndpointId>>> = {
  'feedRequests.429': 'listRequests.429',
  'claimRequests.413': 'updateRequest.413',
  'claimRequests.415': 'updateRequest.415',
  'claimRequests.429': 'updateRequest.429',
  'reportRequests.413': 'updateRequest.413',
  'reportRequests.415': 'updateRequest.415',
  'reportRequests.429': 'updateRequest.429',
  'releaseRequest.413': 'updateRequest.413',
  'releaseRequest.415': 'updateRequest.415',
  'releaseRequest.429': 'updateRequest.429',
  'reopenRequest.429': 'releaseClaim.429',
  'failRequest.413': 'updateRequest.413',
  'failRequest.415': 'updateRequest.415',
  'suspendRelayer.413': 'addRelayer.413',
  'suspendRelayer.415': 'addRelayer.415',
  'suspendRelayer.429': 'addRelayer.429',
  'resumeRelayer.429': 'addRelayer.429',
  'readRelayer.429': 'listRelayers.429',
  'releaseRelayer.429': 'addRelayer.429',
};

/** Why no call from outside can show a case. */
function explainElsewhere(id: EndpointId, status: number): string | undefined {
  if (status === 500)
    return 'no input brings it about: what is thrown is turned into a 500 beside the code that does it';
  if (status === 503 && id !== 'signStorage.503') {
    return "the store's outage cannot be brought about from outside; the drivers' tests do";
  }
  const shown = SHOWN_BY[id];
  return shown && `the same code answers it as ${shown}, which is shown`;
}

function listCases([name, route]: [RouteName, Route]): (RuleCase & { readonly id: EndpointId })[] {
  const { method, path, success, otherSuccess } = route;
  return [success, ...(otherSuccess === undefined ? [] : [otherSuccess]), ...listErrors(route)].map((status) => {
    // The statuses are the route's own.
    const id = `${name}.${status}` as EndpointId;
    const [rule, meaning] = STATUSES[status] ?? [OWN_RULES[name], status === 404 ? 'unknown' : 'well'];
    const elsewhere = explainElsewhere(id, status);
    return {
      ...{ id, rule: status === otherSuccess ? 'ONCE-1' : rule, says: `${method} ${path}, ${status}: ${meaning}` },
      ...(elsewhere === undefined ? {} : { elsewhere }),
    };
  });
}

/** Every endpoint with every status that it answers, from the protocol's table: a new route asks for its tests. */
export const ENDPOINT_CASES = [
  // The keys are the table's.
  ...(Object.entries(ROUTES) as [RouteName, Route][]).flatMap(listCases),
  { id: 'unknown.404', rule: 'ERROR-7', says: '404 unknown route' },
  { id: 'known.405', rule: 'ERROR-8', says: '405 with Allow' },
  { id: 'preflight.204', rule: 'CORS-3', says: 'OPTIONS is among the allowed methods; a preflight is answered' },
  { id: 'operations', rule: 'WIRE-11', says: '/health, /ready, /openapi.json and /docs answer' },
] as const satisfies readonly RuleCase[];

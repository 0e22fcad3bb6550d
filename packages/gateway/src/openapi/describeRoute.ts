import {
  type Access,
  listErrors,
  type RateLimitClass,
  ROUTES,
  type Route,
  type RouteName,
} from '@prism-gateway/protocol';
import { WEBHOOK_ROUTES, type WebhookRouteName } from '@prism-gateway/protocol/webhooks';
import { methodNotAllowed, rateLimited } from '../http/errors.ts';
import {
  type Example,
  type Examples,
  type Operation,
  type Parameter,
  type Paths,
  type Reference,
  type RequestBody,
  type ResponseObject,
  type SecurityRequirement,
  schemaRef,
} from './document.ts';
import { createAdminFailures, errorExample, RELAYER_FAILURES } from './examples/failures.ts';
import { COMMON_HEADERS, describeFailure, headerRefs, LIMIT_HEADERS } from './parts/responses.ts';
import { SECURITY_OF_ACCESS } from './text/authentication.ts';

export type AnyRouteName = RouteName | WebhookRouteName;

/** A route's own part of its description; the rest comes from the route table. */
export interface RouteDescription {
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Only if the access level does not say it. */
  readonly security?: readonly SecurityRequirement[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly success: Success;
  /** That of the route's other status of success, if it has one. */
  readonly otherSuccess?: Success;
  /** The failures that are the route's own, by status; those of its access level and body are described here. */
  readonly failures?: Failures;
}

type Failures = Readonly<Record<number, { readonly description: string; readonly examples: Examples }>>;

interface Success {
  readonly description: string;
  readonly schema: string;
  readonly examples: Examples;
  /** Beside those of every answer. */
  readonly headers?: ResponseObject['headers'];
}

function describeSuccess(status: number, { description, schema, examples, headers }: Success): ResponseObject {
  return {
    description,
    headers: { ...COMMON_HEADERS, ...LIMIT_HEADERS, ...(status === 201 && headerRefs('Location')), ...headers },
    content: { 'application/json': { schema: schemaRef(schema), examples } },
  };
}

const responseRef = (name: string): Reference => ({ $ref: `#/components/responses/${name}` });

const SHARED: Readonly<Record<number, Reference>> = {
  413: responseRef('BodyTooLarge'),
  415: responseRef('UnsupportedMediaType'),
  500: responseRef('Unexpected'),
  503: responseRef('StoreUnavailable'),
};

/** The thing that a limit counts, as the gateway's sentence names it. */
const COUNTED: Readonly<Record<RateLimitClass, string>> = {
  reads: 'reads',
  writes: 'writes',
  sign: 'signed operations',
  claims: 'claims',
  reports: 'reports',
};
const RETRY_AFTER_SECONDS = 12;

function describeRateLimit({ rateLimit, access }: Route): ResponseObject {
  const refused = (what: string): Example =>
    errorExample(`Over the limit of ${what}`, rateLimited(what, RETRY_AFTER_SECONDS, {}));
  return describeFailure({
    description: 'Too many calls within a minute.',
    headers: { ...LIMIT_HEADERS, ...headerRefs('Retry-After') },
    examples: {
      [rateLimit]: refused(COUNTED[rateLimit]),
      ...(rateLimit === 'writes' && access === 'public' && { writeBytes: refused('bytes of bodies') }),
      ...((access === 'relayer' || access === 'identity') && { authFailures: refused('failed authentications') }),
      ...(access === 'admin' && { adminFailures: refused('failed admin calls') }),
    },
  });
}

/** Every route, with or without webhooks. */
export const ALL_ROUTES: Readonly<Record<AnyRouteName, Route>> = { ...ROUTES, ...WEBHOOK_ROUTES };

/** The methods of a path, as its `Allow` names them. */
function methodsOf(path: string): string[] {
  const methods = Object.values(ALL_ROUTES).flatMap((route) => (route.path === path ? [route.method] : []));
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** A parameter takes the word of another path for its value: then that path's methods count. */
function describeMethodNotAllowed({ method, path }: Route): Operation['responses'] {
  const [beside] = Object.values(ALL_ROUTES).filter(
    (other) => !other.path.includes('{') && isBeside(other.path, path) && !methodsOf(other.path).includes(method),
  );
  if (beside === undefined || !path.includes('{')) return {};
  return {
    405: describeFailure({
      description: `The path is that of another operation, as of \`${beside.path}\`. \`Allow\` names the methods that it takes.`,
      headers: headerRefs('Allow'),
      examples: { other: errorExample(beside.path, methodNotAllowed(method, methodsOf(beside.path))) },
    }),
  };
}

/** Whether a path without parameters fits a template. */
const isBeside = (path: string, template: string) =>
  new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);

/** Refused callers, by access level. */
const createRefusals = (): Readonly<Partial<Record<Access, Failures>>> => ({
  relayer: { 401: { description: 'No valid proof of a whitelisted relayer.', examples: RELAYER_FAILURES } },
  admin: { 401: { description: 'The key is missing or wrong.', examples: createAdminFailures() } },
});

function describeFailures(route: Route, failures: Failures | undefined): Operation['responses'] {
  const own: Failures = { ...createRefusals()[route.access], ...failures };
  const responses: Record<string, ResponseObject | Reference> = { ...describeMethodNotAllowed(route) };
  for (const status of listErrors(route)) {
    const failure = own[status];
    const shared = SHARED[status];
    if (failure !== undefined) {
      const headers = { ...LIMIT_HEADERS, ...(status === 503 && headerRefs('Retry-After')) };
      responses[status] = describeFailure({ ...failure, headers });
    } else if (status === 429) responses[status] = describeRateLimit(route);
    else if (shared !== undefined) responses[status] = shared;
    else throw new Error(`${route.method} ${route.path} answers ${status}, and nothing describes it.`);
  }
  return responses;
}

/**
 * Describes a route of the specification.
 *
 * @param name - its name in `ROUTES` or `WEBHOOK_ROUTES`, which becomes the operation's id
 * @param description - what the route table does not say
 * @returns the path with this one operation
 * @throws Error if a failure of the route is not described
 */
export function describeRoute(name: AnyRouteName, description: RouteDescription): Paths {
  const route = ALL_ROUTES[name];
  const { tag, summary, security, parameters, requestBody, success, otherSuccess } = description;
  const operation: Operation = {
    operationId: name,
    summary,
    description: description.description,
    tags: [tag],
    security: security ?? SECURITY_OF_ACCESS[route.access],
    ...(parameters && { parameters }),
    ...(requestBody && { requestBody }),
    responses: {
      [route.success]: describeSuccess(route.success, success),
      ...(route.otherSuccess &&
        otherSuccess && {
          [route.otherSuccess]: describeSuccess(route.otherSuccess, otherSuccess),
        }),
      ...describeFailures(route, description.failures),
    },
    'x-access': route.access,
    'x-rate-limit': route.rateLimit,
  };
  return { [route.path]: { [route.method.toLowerCase()]: operation } };
}

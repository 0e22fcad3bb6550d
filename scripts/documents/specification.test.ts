import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenApiDocument } from '@prism-gateway/gateway/openapi';
import { gatewaySettings } from '@prism-gateway/gateway/settings';
import type { Settings } from '@prism-gateway/node/settings';
import { gasMonitorSettings, paymentsSettings } from '@prism-gateway/payments/settings';
import {
  ACTIONS,
  CONFLICT_REASONS,
  createParamsSchemas,
  DEFAULT_PAGE_SIZE,
  ERROR_CODES,
  listErrors,
  MAX_ERROR_MESSAGE_LENGTH,
  MAX_LABEL_LENGTH,
  MAX_PAGE_SIZE,
  MAX_WAIT_SECONDS,
  RELAYER_TIMESTAMP_SKEW_MS,
  REQUEST_MOVES,
  ROUTES,
  type Route,
} from '@prism-gateway/protocol';
import { WEBHOOK_ROUTES } from '@prism-gateway/protocol/webhooks';
import { describe, expect, test } from 'vitest';

const PAGE = '../../docs/specification.md';
const document = createOpenApiDocument({
  ...{ publicUrl: 'http://127.0.0.1:8787', maxBatchSize: 100, maxBodyBytes: 262_144 },
  ...{ withDevIssuer: false, withWebhooks: true },
});
const { schemas } = document.components;
const ALL_ROUTES: Readonly<Record<string, Route>> = { ...ROUTES, ...WEBHOOK_ROUTES };

const code = (text: string) => `\`${text}\``;
const list = (names: readonly string[]) => names.map(code).join(', ');
const writeTable = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The schema that a reference in a body of JSON names. */
const nameOf = (body: { readonly content?: object } | undefined) =>
  /"\$ref":"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(body?.content ?? ''))?.[1];

function describeOperation({ method, path }: Route) {
  const operation = Object.entries(document.paths[path] ?? {}).find(([verb]) => verb === method.toLowerCase())?.[1];
  if (operation === undefined) throw new Error(`The OpenAPI document has no ${method} ${path}.`);
  const statuses = Object.keys(operation.responses);
  const success = operation.responses[statuses.find((status) => status.startsWith('2')) ?? ''];
  const answer = success !== undefined && 'content' in success ? success : undefined;
  return { statuses, access: operation['x-access'], body: nameOf(operation.requestBody), answer: nameOf(answer) };
}

/** Fields of an object, `?` if they may be absent. */
const fieldsOf = ({ properties = {}, required = [] }: { properties?: object; required?: readonly string[] }) =>
  list(Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`)));

function writeRoutes(): string {
  const rows = Object.values(ALL_ROUTES).map((route) => {
    const { method, path, access, success, otherSuccess, errors } = route;
    const { body = '', answer = '' } = describeOperation(route);
    const statuses = [success, otherSuccess ?? []].flat().join(', ');
    return [code(`${method} ${path}`), access, statuses, errors.join(', '), body, answer];
  });
  return writeTable(['Route', 'Access', 'Success', 'Own errors', 'Body', 'Answer'], rows);
}

const SHARED = ['relayerFee', 'timestamp', 'signer', 'v', 'r', 's'];

/** The own fields of each action's params, as they are parsed. */
function readActions(): ReadonlyMap<string, readonly string[]> {
  const params = createParamsSchemas({ maxBatchSize: 100 });
  return new Map(
    ACTIONS.map((action) => {
      const fields = Object.entries(params[action].shape).filter(([name]) => !SHARED.includes(name));
      return [action, fields.map(([name, field]) => (field.type === 'optional' ? `${name}?` : name))];
    }),
  );
}

const CONSTANTS = {
  'records of a page, at most': MAX_PAGE_SIZE,
  'records of a page, unless asked': DEFAULT_PAGE_SIZE,
  'longest wait, in seconds': MAX_WAIT_SECONDS,
  'age of a relayer’s timestamp, at most, in milliseconds': RELAYER_TIMESTAMP_SKEW_MS,
  'characters of an `errorMessage`, at most': MAX_ERROR_MESSAGE_LENGTH,
  'characters of a `label`, at most': MAX_LABEL_LENGTH,
};

/** Settings whose defaults others rely on. */
const DEFAULTS: readonly (readonly [Settings, readonly string[]])[] = [
  [gatewaySettings, ['CLAIM_LEASE_SECONDS', 'MAX_OPEN_CLAIMS', 'MAX_BODY_BYTES', 'MAX_BATCH_SIZE']],
  [
    paymentsSettings,
    [
      ...['POLL_INTERVAL_MS', 'MAX_FEE_GWEI', 'MAX_RETRIES', 'RETRY_DELAY_MS', 'SLIPPAGE_BPS', 'EXCHANGE_RATE'],
      'MAX_RATE_DEVIATION_BPS',
    ],
  ],
  [gasMonitorSettings, ['GAS_WARN_BALANCE_ETH', 'GAS_POLL_INTERVAL_MS']],
];

function writeConstants(): string {
  const defaults = DEFAULTS.flatMap(([settings, names]) =>
    names.map((name) => [code(name), settings[name]?.initial ?? '']),
  );
  const fixed = Object.entries(CONSTANTS).map(([name, value]) => [name, String(value)]);
  return writeTable(['Constant, or setting', 'Value, or default'], [...fixed, ...defaults]);
}

/** The parts of the page between `<!-- derived: NAME -->` and `<!-- end -->`. */
const BLOCKS: Readonly<Record<string, () => string>> = {
  routes: writeRoutes,
  actions: () => [...readActions()].map(([action, fields]) => `- ${code(action)}: ${list(fields)}`).join('\n'),
  moves: () =>
    writeTable(
      ['Move', 'From', 'To', 'By'],
      Object.entries(REQUEST_MOVES).map(([name, { from, to, by }]) => [name, code(from), list(to), by]),
    ),
  codes: () =>
    [...Map.groupBy(Object.entries(ERROR_CODES), ([, [status]]) => status)]
      .map(([status, codes]) => `- ${status}: ${list(codes.map(([name]) => name))}`)
      .join('\n'),
  conflicts: () =>
    Object.entries(CONFLICT_REASONS)
      .map(([reason, meaning]) => `- ${code(reason)}: ${meaning}`)
      .join('\n'),
  constants: writeConstants,
};

const BLOCK = /(<!-- derived: (\w+) -->\n\n)[\s\S]*?(\n\n<!-- end -->)/g;

/** Written by `npm test -- scripts/documents -u`. */
test('docs/specification.md has what the protocol package has', async () => {
  const page = readFileSync(join(import.meta.dirname, PAGE), 'utf8');
  const names = [...page.matchAll(BLOCK)].map(([, , name]) => name);
  expect(names.toSorted()).toEqual(Object.keys(BLOCKS).toSorted());
  const derived = page.replaceAll(BLOCK, (_, begin, name, end) => `${begin}${BLOCKS[name]?.()}${end}`);
  await expect(derived).toMatchFileSnapshot(PAGE);
});

describe('the OpenAPI document says the same', () => {
  test.each(Object.entries(ALL_ROUTES))('of %s', (_, route) => {
    const { statuses, access } = describeOperation(route);
    const { success, otherSuccess } = route;
    const expected = [success, otherSuccess ?? [], listErrors(route)].flat().map(String);
    expect(access).toBe(route.access);
    // 405 comes where another route's path fits a template.
    expect(statuses.filter((status) => status !== '405').toSorted()).toEqual(expected.toSorted());
  });

  test.each([...readActions()])('of the params of %s', (action, fields) => {
    const stem = action
      .toLowerCase()
      .split('_')
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1));
    let schema = schemas[`${stem.join('')}Params`];
    if (typeof schema?.$ref === 'string') schema = schemas[schema.$ref.split('/').at(-1) ?? ''];
    const shared = list(SHARED);
    expect(fieldsOf(schema ?? {})).toBe(fields.length === 0 ? shared : `${list(fields)}, ${shared}`);
  });

  test('of the codes of errors', () => {
    expect(JSON.stringify(schemas.Error)).toContain(JSON.stringify(Object.keys(ERROR_CODES)));
    expect(JSON.stringify(schemas.RequestConflict)).toContain(JSON.stringify(Object.keys(CONFLICT_REASONS)));
  });
});

import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** Modules that are imported for little or nothing, and what is put in their places. */
const substitutes: Readonly<Record<string, string>> = {
  // Of services that stream events; DynamoDB has none.
  '@smithy/core/event-streams': 'export {};',
  // Of the discovery of endpoints, which is off unless it is asked for; a cache without a bound serves it as well.
  'mnemonist/lru-cache': 'export default class extends Map { constructor() { super(); } }',
  // An import reads all that Node would load when first asked for: the standard streams, reports, workers.
  'node:process': 'export const { env, versions } = process;',
  'node:util': `export const promisify = (call) => (...given) =>
    new Promise((resolve, reject) => call(...given, (error, value) => (error ? reject(error) : resolve(value))));`,
};

/** Files of the AWS SDK that serve nothing here, each with what is left of it, and why. */
export const hollowFiles: readonly (readonly [file: RegExp, contents: string])[] = [
  // SHA-256 in JavaScript, for where there is none: Node has its own.
  [/@smithy\/core\/.*\/sha256\/Sha256Js\.js$/, 'export class Sha256Js {}'],
  // Signs the messages of streamed events; DynamoDB has none.
  [/@smithy\/signature-v4\/.*\/HeaderFormatter\.js$/, 'export class HeaderFormatter {}'],
  // Asks a virtual machine for its region; Lambda puts it into the environment.
  [/\/regionConfig\/getInstanceMetadataRegion\.js$/, 'export const getInstanceMetadataRegion = async () => undefined;'],
  // The client has a strategy of its own, drivers/dynamodb/createRetryStrategy.ts; without one a call is made once.
  [
    /\/util-retry\/StandardRetryStrategy\.js$/,
    `export class StandardRetryStrategy {
      async acquireInitialRetryToken() { return { getRetryCount: () => 0, getRetryDelay: () => 0 }; }
      async refreshRetryTokenForRetry() { throw new Error('a call is made once'); }
      recordSuccess() {}
    }`,
  ],
  [/\/util-retry\/AdaptiveRetryStrategy\.js$/, 'export class AdaptiveRetryStrategy {}'],
  // The world's regions, for rules of addresses that are written anew below.
  [/\/util-endpoints\/lib\/aws\/partitions\.js$/, 'export const partitionsInfo = { partitions: [] };'],
  // Keeps the calls apart that one instance answers at once; here they come one by one, and the environment names each.
  [/\/lambda-invoke-store\/.*\.js$/, 'export const InvokeStore = { getInstanceAsync: async () => undefined };'],
];

/**
 * The client's rules for finding DynamoDB's address weigh 14 kB. These are those of the partitions `aws` and `aws-cn`, with FIPS and
 * dual stack; an address that depends on the account is only an optimisation.
 *
 * @see https://docs.aws.amazon.com/general/latest/gr/ddb.html
 */
const ENDPOINT_RESOLVER = `
export const defaultEndpointResolver = ({ Endpoint, Region, UseFIPS, UseDualStack }) => {
  const name = UseFIPS ? 'dynamodb-fips' : 'dynamodb';
  const isChina = Region.startsWith('cn-');
  const dual = isChina ? 'api.amazonwebservices.com.cn' : 'api.aws';
  const suffix = UseDualStack ? dual : isChina ? 'amazonaws.com.cn' : 'amazonaws.com';
  return { url: new URL(Endpoint ?? 'https://' + name + '.' + Region + '.' + suffix), headers: {}, properties: {} };
};`;

const ERROR_CLASS = /class (\w+) extends[^}]*?shapeId = "([^"]+)"[^}]*?\$fault = "(\w+)"/g;

/** Writes the client's error classes by one that makes them: they differ in their names, faults and fields. */
function writeErrors(source: string): string {
  const made = [...source.matchAll(ERROR_CLASS)].map(
    ([, name, shapeId, fault]) => `${name} = make('${shapeId}', '${fault}')`,
  );
  return `import { DynamoDBServiceException } from './DynamoDBServiceException';
const make = (shapeId, $fault) => {
  const name = shapeId.split('#')[1];
  return class Made extends DynamoDBServiceException {
    static shapeId = shapeId;
    name = name;
    $fault = $fault;
    constructor(given) {
      super({ name, $fault, ...given });
      Object.setPrototypeOf(this, Made.prototype);
      for (const key of Object.keys(given)) if (/^[A-Z]/.test(key)) this[key] = given[key];
    }
  };
};
export const ${made.join(', ')};`;
}

/**
 * Leaves out what takes its time at a cold start and serves nothing here. Where more of such a module is imported than its
 * substitute has, the build fails.
 */
export const leaveOut: Plugin = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    const namespace = 'leave-out';
    const filter = /^(?:@smithy\/core\/event-streams|mnemonist\/lru-cache|node:process|node:util)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /./, namespace }, ({ path }) => ({ contents: substitutes[path] ?? '', loader: 'js' }));
    for (const [file, contents] of hollowFiles) onLoad({ filter: file }, () => ({ contents, loader: 'js' }));
    onLoad({ filter: /client-dynamodb\/dist-es\/endpoint\/endpointResolver\.js$/ }, () => ({
      contents: ENDPOINT_RESOLVER,
      loader: 'js',
    }));
    onLoad({ filter: /client-dynamodb\/dist-es\/models\/errors\.js$/ }, async ({ path }) => ({
      contents: writeErrors(await readFile(path, 'utf8')),
      loader: 'js',
    }));
    // Of which the client sends its version to DynamoDB.
    onLoad({ filter: /client-dynamodb\/package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8')) as { readonly version: string };
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

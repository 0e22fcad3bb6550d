import type { Metafile } from 'esbuild';

/** Modules that must not get into the function, and why not. */
const forbidden: readonly (readonly [RegExp, string])[] = [
  [/node_modules\/(?:@noble|elliptic|bn\.js|viem|ox)\//, 'curve arithmetic in JavaScript'],
  [/gateway\/src\/(?:openapi\/|.*\.docs\.ts$)/, 'the generator of the OpenAPI document'],
  [/node_modules\/zod\/v4\/classic\//, 'the classic form of zod'],
  [/node_modules\/zod\/v4\/locales\/(?!en\.)/, 'the languages of zod'],
  [/node_modules\/(?:tiny-secp256k1|secp256k1)\//, 'another build of libsecp256k1'],
  [/node_modules\/(?:pino|prom-client|@hono|swagger-ui-dist)\//, 'a part of the Node server'],
  [/gateway\/src\/drivers\/(?:sqlite|disk|devIssuer|swaggerUi|pino|prometheus)\//, 'a driver of the Node server'],
  [/node_modules\/@aws-sdk\/(?:credential-provider|client-(?!dynamodb))/, 'a part of the AWS SDK that nothing calls'],
];

/**
 * Finds what has got into a bundle and must not.
 *
 * @param metafile - of a bundle of one file
 * @returns one sentence for each file of that kind
 */
export function findForbidden(metafile: Metafile): string[] {
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  return inputs.flatMap(([path, { bytesInOutput }]) => {
    const found = bytesInOutput > 0 ? forbidden.find(([form]) => form.test(path)) : undefined;
    return found === undefined ? [] : [`${path} is in the bundle: ${found[1]}.`];
  });
}

import { writeFileSync } from 'node:fs';
import { buildExampleRequests } from './exampleRequests.ts';
import { buildRelayerAuthVectors } from './relayerAuth/buildRelayerAuthVectors.ts';
import { buildTypedDataVectors } from './typedDataVectors.ts';

// Writes the vectors and the examples anew. Run it by `npm run vectors`, which formats them too.

const exampleHead = `// Written by scripts/writeVectors.ts: change scripts/exampleRequests.ts and run \`npm run vectors\`.

import type { Action } from '../actions/action.ts';
import type { CreateRequestBody } from '../requests/create.ts';

/** A body of \`POST /requests\` for each action. */
export type ExampleRequests = { readonly [A in Action]: Extract<CreateRequestBody, { readonly action: A }> };

/**
 * One valid request of each action, really signed by well-known development keys.
 *
 * @see EXAMPLE_CONTEXT - the chain, contracts and nonces that the signatures are for
 */
export const EXAMPLE_REQUESTS: ExampleRequests = `;

const json = (value: unknown) => JSON.stringify(value, null, 2);
const target = (path: string) => new URL(`../${path}`, import.meta.url);

writeFileSync(target('vectors/relayer-auth.json'), `${json(await buildRelayerAuthVectors())}\n`);
writeFileSync(target('vectors/typed-data.json'), `${json(await buildTypedDataVectors())}\n`);
writeFileSync(target('src/examples/exampleRequests.ts'), `${exampleHead}${json(await buildExampleRequests())};\n`);

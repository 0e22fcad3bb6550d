import { type Deployment, type HttpCall, httpApiEvent, restApiEvent, startGateway } from '@prism-gateway/testing';
import { drawSome } from '@prism-gateway/testing/test-size';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { isOutage, type Played } from './answer.ts';
import { ADMIN_KEY, createFunctionRig, type FunctionRig } from './functionRig.ts';
import { type Actors, playScenario } from './playScenario.ts';
import { sendToFunction } from './sendToFunction.ts';
import { sendToServer } from './sendToServer.ts';

/** Plays of one scenario on a machine that is too busy. */
const MOST_PLAYS = 5;

/** Plays again, with other tables, if the store was too slow in one call. */
async function playInTime(tables: string, play: (tables: string) => Promise<Played[]>): Promise<Played[]> {
  for (let plays = 1; ; plays++) {
    const played = await play(`${tables}-${plays}`);
    if (plays === MOST_PLAYS || !played.some(isOutage)) return played;
  }
}

type WriteEvent = (call: HttpCall) => Record<string, unknown>;

const apiDomain = 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com';
const customDomain = 'gateway.example.org';

const writing = (write: typeof httpApiEvent, deployment: Deployment): WriteEvent => {
  return (call) => write(call, deployment);
};

/** Every shape of event, in every place where an API can be mounted. */
const shapes: readonly (readonly [string, WriteEvent])[] = [
  ['an HTTP API', writing(httpApiEvent, { stage: '$default', basePath: '', domainName: apiDomain })],
  ['an HTTP API with a stage', writing(httpApiEvent, { stage: 'prod', basePath: '', domainName: apiDomain })],
  [
    'an HTTP API below a base path',
    writing(httpApiEvent, { stage: '$default', basePath: '/v1', domainName: customDomain }),
  ],
  [
    'an HTTP API below a base path, with a stage',
    writing(httpApiEvent, { stage: 'prod', basePath: '/v1', domainName: customDomain }),
  ],
  ['a REST API', writing(restApiEvent, { stage: 'prod', basePath: '', domainName: apiDomain })],
  ['a REST API below a base path', writing(restApiEvent, { stage: 'prod', basePath: '/v1', domainName: customDomain })],
  [
    'a function URL',
    writing(httpApiEvent, { stage: '$default', basePath: '', domainName: 'abc.lambda-url.eu-central-1.on.aws' }),
  ],
];

describeWithDynamo('the function answers as the server does', () => {
  let rig: FunctionRig;
  let actors: Actors;
  let expected: Played[];

  async function playServer(tables: string): Promise<Played[]> {
    const server = await startGateway({ env: rig.env(tables) });
    try {
      return await playScenario((call) => sendToServer(server.url, call), actors);
    } finally {
      await server.stop();
    }
  }

  async function playFunction(tables: string, write: WriteEvent): Promise<Played[]> {
    const running = await rig.start(tables);
    return await playScenario((call) => sendToFunction(running, call, write(call)), actors);
  }

  beforeAll(async () => {
    rig = await createFunctionRig();
    actors = {
      relayers: [{ privateKey: generatePrivateKey() }, { privateKey: generatePrivateKey() }],
      stranger: { privateKey: generatePrivateKey() },
      adminKey: ADMIN_KEY,
      token: await rig.identity.sign(),
    };
    expected = await playInTime('server', playServer);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it.each(drawSome(shapes, { of: 'shapes of events', small: 1 }))('%s', async (name, write) => {
    const played = await playInTime(name.replaceAll(/\W+/g, '-'), (tables) => playFunction(tables, write));
    expect(played).toEqual(expected);
  });
});

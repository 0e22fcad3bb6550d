import { startDynamo } from '@prism-gateway/testing';
import { type GatewayPair, type GatewayPairOptions, startGatewayPair } from './startGatewayPair.ts';

/** Starts two gateways as two processes that share the tables of a local engine. */
export async function startDynamoPair(options: GatewayPairOptions): Promise<GatewayPair> {
  const engine = await startDynamo();
  try {
    const env = { ...options.env, STORE: 'dynamodb', AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint };
    const pair = await startGatewayPair({ ...options, env });
    return {
      ...pair,
      async dispose() {
        await pair.dispose();
        await engine.close();
      },
    };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

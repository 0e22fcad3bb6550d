import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoClient, type DynamoClientSettings } from '../../src/drivers/dynamodb/createDynamoClient.ts';

/** How long one answer is waited for, in milliseconds: a call that is lost for good is made again well before a test's own bound. */
const ANSWER_MS = 60_000;

/**
 * Makes the gateway's client, but one that waits for an answer as long as a loaded machine may take: a healthy table answers in ten
 * milliseconds, an engine that gets no turn in some seconds.
 */
export function createPatientClient(settings: DynamoClientSettings): DynamoDBClient {
  const client = createDynamoClient(settings);
  // Every handler of the AWS SDK has it; the type of the client's own settings leaves it out.
  const handler = client.config.requestHandler as unknown as {
    updateHttpClientConfig(name: string, value: number): void;
  };
  for (const timeout of ['connectionTimeout', 'requestTimeout', 'socketTimeout'] as const) {
    handler.updateHttpClientConfig(timeout, ANSWER_MS);
  }
  return client;
}

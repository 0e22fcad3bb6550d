import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DYNAMO_TEST_ACCESS } from '@prism-gateway/testing';
import { createPatientClient } from './createPatientClient.ts';

/** A write as its client is asked for it. */
export interface AskedWrite {
  /** `PutItemCommand`, `UpdateItemCommand`, … */
  readonly command: string;
  /** Key of the item. */
  readonly requestId: string;
  readonly update: string;
}

type Key = { readonly requestId?: AttributeValue };
interface Input {
  readonly Key?: Key;
  readonly Item?: Key;
  readonly UpdateExpression?: string;
}

/** Makes a client whose writes of some items fail after all their tries, as where one partition is throttled. */
export function createBreakingClient(
  endpoint: string,
  when: {
    readonly before?: (write: AskedWrite) => boolean | Promise<boolean>;
    readonly after?: (write: AskedWrite) => boolean;
  },
): DynamoDBClient {
  const client = createPatientClient({ endpoint, ...DYNAMO_TEST_ACCESS });
  const fail = () => {
    throw Object.assign(new Error('throttled'), { name: 'ProvisionedThroughputExceededException' });
  };
  client.middlewareStack.add(
    (next, { commandName: command = '' }) =>
      async (call) => {
        // Data calls have such inputs.
        const { Key, Item, UpdateExpression: update = '' } = call.input as Input;
        const write = { command, requestId: (Key ?? Item)?.requestId?.S ?? '', update };
        if (await when.before?.(write)) fail();
        const answer = await next(call);
        if (when.after?.(write)) fail();
        return answer;
      },
    { step: 'initialize' },
  );
  return client;
}

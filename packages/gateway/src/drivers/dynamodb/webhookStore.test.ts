import { deliveryQueueContract } from '../../../test/contracts/deliveryQueueContract.ts';
import { webhookStoreContract } from '../../../test/contracts/webhookStoreContract.ts';
import { createDynamoOutbox } from '../../../test/rigs/createDynamoOutbox.ts';
import {
  createDynamoRig,
  DYNAMO_DELIVERIES,
  DYNAMO_TABLES,
  describeWithDynamo,
} from '../../../test/rigs/dynamoStores.ts';
import { createWebhookStore } from './webhookStore.ts';

describeWithDynamo('DynamoDB', () => {
  webhookStoreContract('dynamodb', async () => {
    const rig = await createDynamoRig();
    const table = (name: string) => ({ client: rig.openClient(), name });
    const open = () =>
      createWebhookStore({ requests: table(DYNAMO_TABLES.requests), deliveries: table(DYNAMO_DELIVERIES) });
    return { store: open(), openPeer: async () => open(), cutOff: rig.stopEngine, dispose: rig.dispose };
  });

  deliveryQueueContract('dynamodb', async () => {
    const rig = await createDynamoRig();
    return { store: createDynamoOutbox(rig), cutOff: rig.stopEngine, dispose: rig.dispose };
  });
});

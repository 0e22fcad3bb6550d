import { webhookStoreContract } from '../../../test/contracts/webhookStoreContract.ts';
import { createDynamoRig, DYNAMO_TABLES, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import { createWebhookStore } from './webhookStore.ts';

describeWithDynamo('DynamoDB', () => {
  webhookStoreContract('dynamodb', async () => {
    const rig = await createDynamoRig();
    const open = () => createWebhookStore(rig.openClient(), DYNAMO_TABLES.requests);
    return { store: open(), openPeer: async () => open(), cutOff: rig.stopEngine, dispose: rig.dispose };
  });
});

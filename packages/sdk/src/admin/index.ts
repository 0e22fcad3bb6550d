export { type AdminClient, type AdminClientOptions, createAdminClient } from './createAdminClient.ts';

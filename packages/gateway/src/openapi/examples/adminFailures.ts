import { createAdminCheck } from '../../auth/admin.ts';
import type { Examples } from '../document.ts';
import { thrownExample } from './errorExample.ts';

const check = createAdminCheck(['the right key']);
const request = (headers: Readonly<Record<string, string>>) => new Request('http://127.0.0.1/', { headers });

/** What a caller without the administrator's key is told. */
export const createAdminFailures = (): Examples => ({
  missing: thrownExample('No key', () => check(request({}))),
  wrong: thrownExample('A wrong key', () => check(request({ 'x-admin-key': 'a wrong key' }))),
});

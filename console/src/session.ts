import { signal } from '@preact/signals';
import { ApiError, apiUrl, send } from './api';
import { caller } from './caller';
import type { Caller } from './types';

/** Why the caller is not known, other than a missing login. */
export const startFault = signal<string | null>(null);

export async function readCaller(): Promise<void> {
  startFault.value = null;
  try {
    caller.value = (await (await send(apiUrl('me'))).json()) as Caller;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) caller.value = null;
    else startFault.value = error instanceof Error ? error.message : String(error);
  }
}

/** @throws ApiError 401 for an unknown key */
export async function logIn(key: string): Promise<void> {
  await send(apiUrl('login'), { method: 'POST', headers: { authorization: `Bearer ${key}` } });
  await readCaller();
}

export async function logOut(): Promise<void> {
  await send(apiUrl('login'), { method: 'DELETE' });
  caller.value = null;
}

import { assertContract } from './contract.js';

/** A `fetch` that also compares each answer in JSON with the OpenAPI document. */
export const contractFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const type = response.headers.get('content-type');
  if (!type?.includes('json')) return response;
  const { pathname, search } = new URL(response.url);
  const text = await response.clone().text();
  assertContract({ method: init?.method ?? 'GET', path: pathname + search, status: response.status, type, text });
  return response;
};

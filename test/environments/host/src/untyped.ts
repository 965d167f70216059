import { check } from './check.js';

check().catch((error: Error) => console.log(error.message));

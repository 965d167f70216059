export const VERSION: string = 'third';

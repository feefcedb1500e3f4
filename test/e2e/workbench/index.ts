export * from './chat';
export * from './editors';
export * from './notifications';
export * from './quick-input';
export * from './server';
export * from './theme';
export * from './wait';
export * from './workbench';

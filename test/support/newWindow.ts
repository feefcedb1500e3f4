/**
 * Runs before each test file, since files in a worker share modules, including the fake VS Code.
 */
import { openNewWindow } from './vscode';

openNewWindow();

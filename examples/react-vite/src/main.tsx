// Draws the page. StrictMode runs every effect twice while you develop; the hook uploads once all the same.

import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './page.css'

const place = document.getElementById('root')
if (place === null) throw new Error('The page has no #root.')
createRoot(place).render(
  <StrictMode>
    <App />
  </StrictMode>,
)

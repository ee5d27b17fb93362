// Starts Swagger UI on the product's own schema. Nothing is sent to a validator elsewhere.

const place = document.getElementById("api");

SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
